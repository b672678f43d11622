import { menorId } from '../codigos/codigos.ts'
import type { Estado, Modo } from '../contrato/generado/tipos/index.ts'
import { type Db, sentenciaDe } from '../db.ts'
import { problemaDeFallas } from '../errores.ts'
import { leerInstante } from '../formatos.ts'
import type { Cursores } from '../listas/cursor.ts'
import { type Paginacion, paginar } from '../listas/pagina.ts'
import { leerTelefono } from '../telefonos/telefono.ts'
import type { FilaGuia } from './guia.ts'

/** What a list of guides may be narrowed by; several add up. */
export interface Filtros extends Paginacion {
  comercioId?: string
  modo?: Modo
  estado?: readonly Estado[]
  external_ref?: string
  telefono?: string
  creado_desde?: string
  creado_hasta?: string
}

type FilaDeLista = FilaGuia & { comercio: string }

/**
 * A page of guides, newest first. The id is a UUIDv7 of the creation's instant, so one keyset on the id serves the order,
 * the cursor and both date filters, at the same cost at any depth. With `estado`, each state is read from its own index
 * range and the ranges are merged: a rare state is found without walking over the others.
 */
export function buscarPagina<Dato>(
  { db, cursores }: { db: Db; cursores: Cursores },
  quien: { operacion: string; dueno: string },
  filtros: Filtros,
  presentar: (fila: FilaDeLista) => Dato,
) {
  const { limite, cursor, estado, ...resto } = filtros
  const estados = estado && [...new Set(estado)].sort()
  const ambito = { ...quien, filtros: { ...resto, estado: estados } }
  return paginar(
    cursores,
    ambito,
    { ...(limite ? { limite } : {}), ...(cursor ? { cursor } : {}) },
    {
      leer: (despues, cuantas) =>
        leer(db, { ...resto, ...(estados ? { estado: estados } : {}) }, despues?.[0] as string | undefined, cuantas),
      posicion: ({ id }) => [id],
      presentar,
    },
  )
}

function leer(db: Db, filtros: Filtros, antesDe: string | undefined, cuantas: number): Promise<FilaDeLista[]> {
  const valores: unknown[] = []
  const $ = (valor: unknown) => `$${valores.push(valor)}`
  const condiciones: string[] = []
  if (filtros.comercioId) condiciones.push(`comercio_id = ${$(filtros.comercioId)}`)
  if (filtros.modo) condiciones.push(`modo = ${$(filtros.modo)}`)
  if (filtros.external_ref !== undefined) condiciones.push(`external_ref = ${$(filtros.external_ref.normalize('NFC'))}`)
  if (filtros.telefono !== undefined) condiciones.push(`telefono = ${$(e164(filtros.telefono))}`)
  if (filtros.creado_desde) condiciones.push(`id >= ${$(menorId(instante(filtros.creado_desde)))}`)
  if (filtros.creado_hasta) condiciones.push(`id < ${$(menorId(instante(filtros.creado_hasta)))}`)
  if (antesDe) condiciones.push(`id < ${$(antesDe)}`)
  const limite = $(cuantas)
  const pagina = (mas: string[]) =>
    `(select * from guia where ${[...condiciones, ...mas].join(' and ') || 'true'} order by id desc limit ${limite})`
  // One branch a state, each with its own constant: the planner then reads each from its range of the index.
  const ramas = filtros.estado?.map((estado) => pagina([`estado = ${$(estado)}`])) ?? [pagina([])]
  const guias =
    ramas.length === 1 ? ramas[0] : `select * from (${ramas.join(' union all ')}) x order by id desc limit ${limite}`
  const text = `select g.*, c.comercio from (${guias}) g join comercio c on c.id = g.comercio_id order by g.id desc`
  return db.consultar<FilaDeLista>(sentenciaDe(text), valores)
}

const instante = (texto: string) => leerInstante(texto)!

function e164(texto: string): string {
  const telefono = leerTelefono(texto)
  if ('error' in telefono)
    throw problemaDeFallas('parametro_invalido', [
      { campo: 'telefono', codigo: 'formato_invalido', mensaje: telefono.error },
    ])
  return telefono.e164
}
