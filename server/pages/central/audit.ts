import type { Request } from 'express'
import type { CallOperation } from '../../api/contract/calls.ts'
import * as icons from '../../generated/contract/icons.ts'
import type { Comercio, LineaDeBitacoraDeOperacion } from '../../generated/contract/types/index.ts'
import { NOMBRES_DE_OPERACIONES } from '../../generated/contract/vocabulary.ts'
import { Problema } from '../../platform/errors.ts'
import { type Html, html } from '../../platform/html.ts'
import type { PageRequest, Sheet } from '../page.ts'
import { button, emptyState, field, option, table } from '../ui/components.ts'
import { orProblem, sentenceOf, trimmedText } from './forms.ts'
import { above, following, type Office, officePage, outcome } from './shell.ts'

/**
 * Names of actions by their code: operations of the contract, commands of the console, and what the service does itself.
 * Two operations for couriers have the same summary as those for persons.
 */
const ACTION_NAMES: ReadonlyMap<string, string> = new Map(
  [
    ...Object.entries<string>(NOMBRES_DE_OPERACIONES),
    ['abrirSesion', 'Entrar como repartidor'] as const,
    ['cerrarSesion', 'Salir como repartidor'] as const,
    ['cerrarPorFallas', 'Cerrar una sesión por sus fallas'] as const,
    ['exportarPersona', 'Exportar los datos de una persona'] as const,
    ['fallarCodigoDeInvitacion', 'Fallar el código de una invitación'] as const,
    ['fallarSegundoFactor', 'Fallar el segundo factor'] as const,
    ['olvidarPersona', 'Olvidar a una persona'] as const,
    ['probarCorreo', 'Probar el correo'] as const,
    ['usarSesionEnOtraRed', 'Usar una sesión en otra red'] as const,
  ].toSorted(([, name], [, other]) => name.localeCompare(other, 'es')),
)

/** Draws the filter by action. An action of an older or newer version is offered by its code. */
const actionFilter = (chosen: string): Html =>
  field({
    id: 'accion',
    label: 'Qué se hizo',
    control: (own) =>
      html`<select ${own} name="accion">${option('', 'Todo', chosen)}${chosen !== '' && !ACTION_NAMES.has(chosen) && option(chosen, chosen, chosen)}${[...ACTION_NAMES].map(([action, name]) => option(action, name, chosen))}</select>`,
  })

/** Returns the page with the audit record of a merchant, newest line first. */
export async function showAudit(
  call: CallOperation,
  { req, root }: PageRequest,
  office: Office,
  merchant: Comercio,
): Promise<Sheet> {
  const { comercio } = merchant
  const [accion, cursor] = [trimmedText(req.query.accion), trimmedText(req.query.cursor)]
  const query = { comercio, ...(accion && { accion }), ...(cursor && { cursor }), limite: '50' }
  const read = await orProblem(call(req, 'buscarEnBitacora', { query }))
  const refused = read instanceof Problema
  const here = `central/comercios/${comercio}/bitacora`
  return {
    status: refused ? 422 : 200,
    ...officePage(office, {
      titulo: 'Bitácora de un comercio',
      place: 'comercios',
      body: html`${above(root, merchant)}
<h1 tabindex="-1">Bitácora</h1>
<form class="filtros" action="${root}${here}">${actionFilter(accion)}${button({ text: 'Ver', attributes: html`type="submit"` })}</form>
${refused ? outcome(sentenceOf(read), 'mal') : html`${lines(office, read.body.datos, await authorsOf(call, req, read.body.datos))}${following(root, here, accion === '' ? {} : { accion }, read.body.cursor_siguiente)}`}`,
    }),
  }
}

/** Reads the names of persons and operators of the courier company that the lines mention. */
async function authorsOf(
  call: CallOperation,
  req: Request,
  shown: readonly LineaDeBitacoraDeOperacion[],
): Promise<ReadonlyMap<string, string>> {
  const has = (type: string) => shown.some(({ quien }) => quien.tipo === type)
  const limite = '100'
  const [persons, operators] = await Promise.all([
    has('persona') ? call(req, 'listarPersonas', { query: { ambito: 'empresa', limite } }) : undefined,
    has('operador') ? call(req, 'listarOperadores', { query: { limite } }) : undefined,
  ])
  return new Map([
    ...(persons?.body.datos ?? []).map(({ persona, nombre }) => [persona, nombre] as const),
    ...(operators?.body.datos ?? []).map(({ operador, nombre }) => [operador, nombre] as const),
  ])
}

const AUTHORS: Readonly<Record<string, string>> = {
  llave: 'Una llave',
  operador: 'Un operador',
  persona: 'Una persona',
  repartidor: 'Un repartidor',
  trabajo: 'El servicio',
  consola: 'La consola',
  desconocido: 'Nadie que se conozca',
}

function lines(
  { clock }: Office,
  shown: readonly LineaDeBitacoraDeOperacion[],
  names: ReadonlyMap<string, string>,
): Html {
  if (shown.length === 0)
    return emptyState(icons.History, html`<h2>No hay nada</h2>`, 'Aquí queda quién cambió o miró lo de este comercio.')
  const rows = shown.map(({ accion, quien, sobre, campos, red, creado_en }) => [
    html`<b>${ACTION_NAMES.get(accion) ?? accion}</b>${sobre && html`<br><span class="suave largo">${sobre.identificador}</span>`}`,
    html`${names.get(quien.identificador ?? '') ?? AUTHORS[quien.tipo] ?? quien.tipo}${quien.identificador !== null && html`<br><span class="suave largo">${quien.identificador}</span>`}`,
    html`${campos.join(', ')}`,
    html`${red}`,
    html`<time class="junto" datetime="${creado_en}">${clock.formatShort(creado_en)}</time>`,
  ])
  return table('Bitácora', ['Qué se hizo', 'Quién', 'Campos', 'Desde la red', 'Cuándo'], rows)
}
