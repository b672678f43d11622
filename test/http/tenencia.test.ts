import { beforeAll, describe, expect, it } from 'vitest'
import { leerDocumento, leerOperaciones } from '../../server/contrato/contrato.ts'
import { type Comercio, usarEntorno } from '../entorno.ts'
import { unaGuia } from '../fabricas.ts'

const entorno = usarEntorno()
// Every route of merchants that names something, whatever the contract adds later.
const conId = leerOperaciones(leerDocumento()).filter(
  ({ seguridad, ruta }) => seguridad?.esquema === 'llaveDeComercio' && ruta.includes('{'),
)

let dueno: Comercio
let extrano: Comercio
const ids: Record<string, string> = {}
beforeAll(async () => {
  dueno = await entorno.nuevoComercio()
  extrano = await entorno.nuevoComercio()
  ids.guia = (await dueno.api.guias.crear(unaGuia())).guia
})

/** Everything that is stored, so that "changes nothing" is not a figure of speech. */
const foto = async () => {
  const { rows } =
    await entorno.db.pool.query(`select (select json_agg(g order by id) from guia g) g, (select json_agg(e order by guia_id, secuencia) from evento e) e,
    (select json_agg(m order by id) from mensaje m) m`)
  return JSON.stringify(rows)
}

describe('another merchant’s things', () => {
  it('has routes to try', () => {
    expect(conId.length).toBeGreaterThan(2)
    // A new kind of id needs its own thing to try here.
    for (const { ruta } of conId)
      for (const [, nombre] of ruta.matchAll(/\{(\w+)\}/g)) expect(ids).toHaveProperty(nombre!)
  })

  it.each(conId.map((operacion) => [operacion.id, operacion] as const))(
    '%s: 404, the same as unknown, and nothing changes',
    async (_id, { metodo, ruta }) => {
      const pedir = async (llave: string, id: (nombre: string) => string) => {
        const { status, cuerpo, cabeceras } = await entorno.pedir(
          metodo.toUpperCase(),
          ruta.replace(/\{(\w+)\}/g, (_m, nombre) => id(nombre)),
          { llave },
        )
        const { id_solicitud: _1, instance: _2, ...resto } = cuerpo
        const visibles = [...cabeceras.keys()]
          .filter((nombre) => !['date', 'x-request-id'].includes(nombre))
          .map((nombre) => [nombre, cabeceras.get(nombre)])
        return { status, resto, visibles }
      }
      const antes = await foto()
      const desconocida = await pedir(extrano.llave, () => '000000000000')
      expect(desconocida.status).toBe(404)
      expect(await pedir(extrano.llave, (nombre) => ids[nombre]!)).toEqual(desconocida)
      // The owner's key of the other mode is a stranger too.
      expect(await pedir(await entorno.nuevaLlave(dueno, { modo: 'live' }), (nombre) => ids[nombre]!)).toEqual(
        desconocida,
      )
      expect(await pedir(extrano.llave, () => 'no-es-nada')).toEqual(desconocida)
      expect(await foto()).toBe(antes)
      expect(
        (
          await entorno.pedir(
            metodo.toUpperCase(),
            ruta.replace(/\{(\w+)\}/g, (_m, nombre) => ids[nombre]!),
            { llave: dueno.llave },
          )
        ).status,
      ).toBeLessThan(300)
    },
  )

  it('are in no list of mine', async () => {
    const { api } = extrano
    expect((await api.guias.listar()).datos).toEqual([])
    expect(
      (await api.guias.listar({ external_ref: (await dueno.api.guias.obtener(ids.guia!)).external_ref! })).datos,
    ).toEqual([])
    expect((await api.eventos.listar()).datos).toEqual([])
  })
})

describe('the schema', () => {
  it('keys every table of a merchant by the merchant first', async () => {
    const excepciones = ['comercio', 'operador', 'llave', 'guia_indice', '_prisma_migrations']
    const { rows } = await entorno.db.pool.query<{ tabla: string; tipo: string; columnas: string[] }>(`
      select c.conrelid::regclass::text tabla, c.contype::text tipo,
        array(select a.attname::text from unnest(c.conkey) with ordinality k(n, i) join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.n order by i) columnas
      from pg_constraint c join pg_class t on t.oid = c.conrelid
      where c.contype in ('p', 'u', 'f') and t.relnamespace = 'public'::regnamespace and t.relkind = 'r'`)
    const deComercios = rows.filter(({ tabla }) => !excepciones.includes(tabla))
    expect(new Set(deComercios.map(({ tabla }) => tabla))).toEqual(new Set(['guia', 'evento', 'mensaje']))
    expect(deComercios.filter(({ columnas }) => columnas[0] !== 'comercio_id')).toEqual([])
  })

  it('reads no table of a merchant without naming the merchant', async () => {
    const { readFileSync, globSync } = await import('node:fs')
    const sentencias = globSync('server/**/*.ts', { exclude: (nombre) => nombre.includes('generado') }).flatMap(
      (archivo) =>
        [
          ...readFileSync(archivo, 'utf8').matchAll(
            /`([^`]*\b(?:from|update|into|join) (?:guia|evento|mensaje)\b[^`]*)`/g,
          ),
        ].map(([, sql]) => [archivo, sql!]),
    )
    expect(sentencias.length).toBeGreaterThan(5)
    // Named exceptions: the operator's list, and the feeder, which work for all merchants.
    const paraTodos = ['server/guias/lista.ts', 'server/mensajeria/mensaje.ts']
    expect(
      sentencias.filter(([archivo, sql]) => !sql!.includes('comercio_id') && !paraTodos.includes(archivo!)),
    ).toEqual([])
  })
})
