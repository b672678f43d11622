import type { Webhook, WebhookConSecreto, WebhookParaCrear } from '@guias/sdk'
import { EVENT_TYPES } from '../../src/generated/eventTypes.ts'
import {
  type CliCommand,
  type CommandGroup,
  type Context,
  EXIT_CODE,
  numero,
  type Options,
  UsageError,
} from '../command.ts'
import { requireFreePaths, writeFileAtomically } from '../files.ts'
import { LIST_OPTIONS, type ListDescription, showList } from '../table.ts'
import { askToConfirm, hora, notify, paint, printLine, sanitize } from '../terminal.ts'
import { avisos, probar, recuperar, reenviar } from './avisosDeWebhook.ts'

const WEBHOOKS_LIST: ListDescription<Webhook> = {
  columns: [
    { title: 'WEBHOOK', text: ({ webhook }) => webhook },
    {
      title: 'ESTADO',
      text: ({ estado }) => estado,
      tone: ({ estado }) => (estado === 'activo' ? 'green' : 'yellow'),
    },
    { title: 'DIRECCIÓN', text: ({ url }) => url, canShrink: true },
    { title: 'TIPOS', text: ({ tipos }) => tipos.join(','), canShrink: true },
  ],
  names: ['webhook', 'estado', 'motivo', 'modo', 'url', 'tipos', 'descripcion', 'creado_en', 'actualizado_en'],
  campos: ({ tipos, fallas: _, secretos: __, ...webhook }) => ({ ...webhook, tipos: tipos.join(' ') }),
  emptyMessage: 'No hay webhooks: cree uno con guias webhooks crear <url>.',
}

const listar: CliCommand = {
  summary: 'lista sus webhooks',
  usage: ['webhooks listar [opciones]'],
  explanation: 'Lista los webhooks del modo de su llave, del más antiguo al más reciente.',
  options: LIST_OPTIONS,
  positionals: [0, 0],
  readOnly: true,
  async run(context) {
    const api = context.api()
    await showList(context, WEBHOOKS_LIST, (page) => api.webhooks.listar(page, { signal: context.signal }))
    return EXIT_CODE.ok
  },
}

function printWebhook(webhook: Webhook, { json }: Context) {
  if (json) printLine(JSON.stringify(webhook))
  else printLine(`${paint('strong', sanitize(webhook.webhook))}  ${sanitize(webhook.estado)}  ${sanitize(webhook.url)}`)
}

const ver: CliCommand = {
  summary: 'muestra un webhook: cómo va y con qué secretos se firma',
  usage: ['webhooks ver <webhook>'],
  explanation: 'Muestra el webhook, si falla desde cuándo, y qué versiones del secreto firman.',
  options: {},
  positionals: [1, 1],
  readOnly: true,
  async run(context) {
    const [code = ''] = context.positionals
    const webhook = await context.api().webhooks.obtener(code, { signal: context.signal })
    printWebhook(webhook, context)
    if (context.json) return EXIT_CODE.ok
    const { fallas } = webhook
    const fields: [string, string | null][] = [
      ['Tipos', webhook.tipos.join(', ')],
      ['Descripción', webhook.descripcion],
      ['Motivo', webhook.motivo],
      ['Creado', hora(webhook.creado_en)],
      [
        'Falla',
        fallas &&
          `desde ${hora(fallas.primera_falla_en)}, ${fallas.intentos} intentos; se deshabilita ${hora(fallas.se_deshabilita_en)}`,
      ],
      ...webhook.secretos.map(({ version, vence_en }): [string, string] => [
        `Secreto ${version}`,
        vence_en ? `firma hasta ${hora(vence_en)}` : 'firma',
      ]),
    ]
    for (const [name, value] of fields) if (value) printLine(`  ${paint('grey', name.padEnd(12))}  ${sanitize(value)}`)
    return EXIT_CODE.ok
  },
}

const SECRETO_OPTIONS: Options = {
  'secreto-en': {
    placeholder: '<ruta>',
    description: 'guarda el secreto en ese archivo, que solo usted lee, en vez de mostrarlo',
  },
  forzar: { description: 'reemplaza ese archivo si ya existe' },
}

/**
 * Sends a request that returns a secret, and shows the secret once: on the screen, or only in the file of
 * `--secreto-en`.
 */
async function deliverSecreto(context: Context, requestWebhook: () => PromiseLike<WebhookConSecreto>): Promise<number> {
  const file = context.texto('secreto-en')
  if (file !== undefined) requireFreePaths([file], context.isSet('forzar'), 'dé otro nombre a --secreto-en')
  const { secreto, ...webhook } = await requestWebhook()
  if (file !== undefined && (await saveSecreto(file, secreto))) {
    printWebhook(webhook, context)
    notify(`Secreto guardado en ${file}.`)
  } else if (context.json) printLine(JSON.stringify({ ...webhook, secreto }))
  else {
    printWebhook(webhook, context)
    printLine(secreto)
    notify('Guarde el secreto (GUIAS_SECRETO en su servidor): no se vuelve a mostrar.')
  }
  return EXIT_CODE.ok
}

/**
 * Saves the secret in a file that only its owner can read (mode 600).
 *
 * @returns false if the file cannot be written; the caller then shows the secret, which would otherwise be lost
 */
async function saveSecreto(file: string, secret: string): Promise<boolean> {
  try {
    await writeFileAtomically(file, `${secret}\n`, 0o600)
    return true
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    notify(`${error.message} Se muestra aquí.`)
    return false
  }
}

const DE_WEBHOOK: Options = {
  tipos: {
    placeholder: '<tipos>',
    description: 'qué eventos, separados por comas: guia.*,ubicacion.confirmada',
    values: EVENT_TYPES,
    multiple: true,
  },
  descripcion: { placeholder: '<texto>', description: 'una nota para usted' },
}

function readWebhookData(context: Context): Pick<WebhookParaCrear, 'tipos' | 'descripcion'> {
  const tipos: WebhookParaCrear['tipos'] = context.texts('tipos')
  const descripcion = context.texto('descripcion')
  return { ...(tipos && { tipos }), ...(descripcion !== undefined && { descripcion }) }
}

const crear: CliCommand = {
  summary: 'registra una dirección para recibir eventos',
  usage: ['webhooks crear <url> [opciones]'],
  explanation: `Registra una dirección para recibir los eventos del modo de su llave, y da el
secreto con que se firman, una sola vez.`,
  options: { ...DE_WEBHOOK, ...SECRETO_OPTIONS },
  positionals: [1, 1],
  examples: ["webhooks crear https://tienda.ejemplo.com/guias --tipos 'guia.*'"],
  run(context) {
    const [url = ''] = context.positionals
    const datos = { url, ...readWebhookData(context) }
    return deliverSecreto(context, () => context.api().webhooks.crear(datos, { signal: context.signal }))
  },
}

const cambiar: CliCommand = {
  summary: 'cambia la dirección, los tipos o la descripción',
  usage: ['webhooks cambiar <webhook> [opciones]'],
  explanation: 'Cambia lo que diga; lo demás queda como está.',
  options: { direccion: { placeholder: '<url>', description: 'la dirección nueva' }, ...DE_WEBHOOK },
  positionals: [1, 1],
  async run(context) {
    const [code = ''] = context.positionals
    const url = context.texto('direccion')
    const changes = { ...(url !== undefined && { url }), ...readWebhookData(context) }
    if (Object.keys(changes).length === 0)
      throw new UsageError('Diga qué cambia: --direccion, --tipos o --descripcion.')
    printWebhook(await context.api().webhooks.cambiar(code, changes, { signal: context.signal }), context)
    return EXIT_CODE.ok
  },
}

const createStateCommand = (
  name: string,
  estado: 'activo' | 'pausado',
  summary: string,
  explanation: string,
): CliCommand => ({
  summary,
  usage: [`webhooks ${name} <webhook>`],
  explanation,
  options: {},
  positionals: [1, 1],
  async run(context) {
    const [code = ''] = context.positionals
    printWebhook(await context.api().webhooks.cambiar(code, { estado }, { signal: context.signal }), context)
    return EXIT_CODE.ok
  },
})

const rotarSecreto: CliCommand = {
  summary: 'crea un secreto nuevo, sin perder ningún envío',
  usage: ['webhooks rotar-secreto <webhook> [opciones]'],
  explanation: `Crea un secreto nuevo y lo da una sola vez. Durante el solapamiento cada envío
lleva las dos firmas: cambie el secreto en su servidor con calma.`,
  options: {
    solapamiento: {
      placeholder: '<horas>',
      description: 'cuánto sigue firmando el anterior; 24 si falta, 0 para que no',
    },
    ...SECRETO_OPTIONS,
  },
  positionals: [1, 1],
  run(context) {
    const [code = ''] = context.positionals
    const rotation = { solapamiento_horas: numero(context, 'solapamiento', 24, 0) }
    return deliverSecreto(context, () =>
      context.api().webhooks.rotarSecreto(code, rotation, { signal: context.signal }),
    )
  },
}

const eliminar: CliCommand = {
  summary: 'elimina un webhook, con sus avisos y sus secretos',
  usage: ['webhooks eliminar <webhook> [opciones]'],
  explanation: `Deja de enviarle y borra sus avisos y sus secretos; no se puede deshacer. En
una terminal pregunta antes; fuera de ella hace falta --si. Para dejar de enviar
por un tiempo: guias webhooks pausar.`,
  options: { si: { description: 'elimina sin preguntar' } },
  positionals: [1, 1],
  async run(context) {
    const [code = ''] = context.positionals
    const { webhooks } = context.api()
    const question = `¿Eliminar el webhook ${sanitize(code)}? No se puede deshacer.`
    if (!(await askToConfirm(question, context.isSet('si'), context.signal))) {
      notify('No se eliminó nada.')
      return EXIT_CODE.interrupted
    }
    await webhooks.eliminar(code, { signal: context.signal })
    printLine(context.json ? JSON.stringify({ webhook: code, eliminado: true }) : `${sanitize(code)}  eliminado`)
    return EXIT_CODE.ok
  },
}

export const webhooks: CommandGroup = {
  summary: 'sus webhooks: crearlos, probarlos, ver qué se envió',
  commands: {
    listar,
    ver,
    crear,
    cambiar,
    probar,
    pausar: createStateCommand(
      'pausar',
      'pausado',
      'deja de enviar, y guarda los eventos',
      'Deja de enviar; los eventos se guardan y salen al reanudarlo.',
    ),
    reanudar: createStateCommand(
      'reanudar',
      'activo',
      'vuelve a enviar',
      'Vuelve a enviar, también a uno deshabilitado, y envía lo que se guardó en la pausa.',
    ),
    'rotar-secreto': rotarSecreto,
    avisos,
    reenviar,
    recuperar,
    eliminar,
  },
}
