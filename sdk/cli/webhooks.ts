import type { Webhook, WebhookConSecreto, WebhookParaCambiar } from '@guias/sdk'
import { EVENT_TYPES } from '../src/generado/eventTypes.ts'
import { escribirEntero, exigirLibres } from './archivos.ts'
import { avisos, probar, recuperar, reenviar } from './avisosDeWebhook.ts'
import { type Contexto, ErrorDeUso, type Grupo, numero, type Opciones, type Orden, SALIDA } from './orden.ts'
import { type Lista, mostrarLista, OPCIONES_DE_LISTA } from './tabla.ts'
import { avisar, confirmar, decir, hora, limpio, pintar } from './terminal.ts'

const LISTA: Lista<Webhook> = {
  columnas: [
    { titulo: 'WEBHOOK', de: ({ webhook }) => webhook },
    {
      titulo: 'ESTADO',
      de: ({ estado }) => estado,
      tono: ({ estado }) => (estado === 'activo' ? 'verde' : 'amarillo'),
    },
    { titulo: 'DIRECCIÓN', de: ({ url }) => url, cede: true },
    { titulo: 'TIPOS', de: ({ tipos }) => tipos.join(','), cede: true },
  ],
  nombres: ['webhook', 'estado', 'motivo', 'modo', 'url', 'tipos', 'descripcion', 'creado_en', 'actualizado_en'],
  campos: ({ tipos, fallas: _, secretos: __, ...webhook }) => ({ ...webhook, tipos: tipos.join(' ') }),
  vacia: 'No hay webhooks: cree uno con guias webhooks crear <url>.',
}

const listar: Orden = {
  resumen: 'lista sus webhooks',
  uso: ['webhooks listar [opciones]'],
  explica: 'Lista los webhooks del modo de su llave, del más antiguo al más reciente.',
  opciones: OPCIONES_DE_LISTA,
  posicionales: [0, 0],
  muestra: true,
  async ejecutar(contexto) {
    const api = contexto.api()
    await mostrarLista(contexto, LISTA, (pagina) => api.webhooks.listar(pagina, { signal: contexto.signal }))
    return SALIDA.bien
  },
}

function decirWebhook(webhook: Webhook, { json }: Contexto) {
  if (json) decir(JSON.stringify(webhook))
  else decir(`${pintar('fuerte', limpio(webhook.webhook))}  ${limpio(webhook.estado)}  ${limpio(webhook.url)}`)
}

const ver: Orden = {
  resumen: 'muestra un webhook: cómo va y con qué secretos se firma',
  uso: ['webhooks ver <webhook>'],
  explica: 'Muestra el webhook, si falla desde cuándo, y qué versiones del secreto firman.',
  opciones: {},
  posicionales: [1, 1],
  muestra: true,
  async ejecutar(contexto) {
    const [codigo = ''] = contexto.posicionales
    const webhook = await contexto.api().webhooks.obtener(codigo, { signal: contexto.signal })
    decirWebhook(webhook, contexto)
    if (contexto.json) return SALIDA.bien
    const { fallas } = webhook
    const campos: [string, string | null][] = [
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
    for (const [nombre, valor] of campos) if (valor) decir(`  ${pintar('gris', nombre.padEnd(12))}  ${limpio(valor)}`)
    return SALIDA.bien
  },
}

const DE_SECRETO: Opciones = {
  'secreto-en': { valor: '<ruta>', dice: 'guarda el secreto en ese archivo, que solo usted lee, en vez de mostrarlo' },
  forzar: { dice: 'reemplaza ese archivo si ya existe' },
}

/**
 * Sends a request that returns a secret, and shows the secret once: on the screen, or only in the file of
 * `--secreto-en`.
 */
async function conSecreto(contexto: Contexto, pedir: () => PromiseLike<WebhookConSecreto>): Promise<number> {
  const archivo = contexto.texto('secreto-en')
  if (archivo !== undefined) exigirLibres([archivo], contexto.si('forzar'), 'dé otro nombre a --secreto-en')
  const { secreto, ...webhook } = await pedir()
  if (archivo !== undefined && (await guardar(archivo, secreto))) {
    decirWebhook(webhook, contexto)
    avisar(`Secreto guardado en ${archivo}.`)
  } else if (contexto.json) decir(JSON.stringify({ ...webhook, secreto }))
  else {
    decirWebhook(webhook, contexto)
    decir(secreto)
    avisar('Guarde el secreto (GUIAS_SECRETO en su servidor): no se vuelve a mostrar.')
  }
  return SALIDA.bien
}

/**
 * Saves the secret in a file that only its owner can read (mode 600).
 *
 * @returns false if the file cannot be written; the caller then shows the secret, which would otherwise be lost
 */
async function guardar(archivo: string, secreto: string): Promise<boolean> {
  try {
    await escribirEntero(archivo, `${secreto}\n`, 0o600)
    return true
  } catch (error) {
    if (!(error instanceof ErrorDeUso)) throw error
    avisar(`${error.message} Se muestra aquí.`)
    return false
  }
}

const DE_WEBHOOK: Opciones = {
  tipos: {
    valor: '<tipos>',
    dice: 'qué eventos, separados por comas: guia.*,ubicacion.confirmada',
    valores: EVENT_TYPES,
    varias: true,
  },
  descripcion: { valor: '<texto>', dice: 'una nota para usted' },
}

function leerDatos(contexto: Contexto): Pick<WebhookParaCambiar, 'tipos' | 'descripcion'> {
  const tipos: WebhookParaCambiar['tipos'] = contexto.textos('tipos')
  const descripcion = contexto.texto('descripcion')
  return { ...(tipos && { tipos }), ...(descripcion !== undefined && { descripcion }) }
}

const crear: Orden = {
  resumen: 'registra una dirección para recibir eventos',
  uso: ['webhooks crear <url> [opciones]'],
  explica: `Registra una dirección para recibir los eventos del modo de su llave, y da el
secreto con que se firman, una sola vez.`,
  opciones: { ...DE_WEBHOOK, ...DE_SECRETO },
  posicionales: [1, 1],
  ejemplos: ["webhooks crear https://tienda.ejemplo.com/guias --tipos 'guia.*'"],
  ejecutar(contexto) {
    const [url = ''] = contexto.posicionales
    const datos = { url, ...leerDatos(contexto) }
    return conSecreto(contexto, () => contexto.api().webhooks.crear(datos, { signal: contexto.signal }))
  },
}

const cambiar: Orden = {
  resumen: 'cambia la dirección, los tipos o la descripción',
  uso: ['webhooks cambiar <webhook> [opciones]'],
  explica: 'Cambia lo que diga; lo demás queda como está.',
  opciones: { direccion: { valor: '<url>', dice: 'la dirección nueva' }, ...DE_WEBHOOK },
  posicionales: [1, 1],
  async ejecutar(contexto) {
    const [codigo = ''] = contexto.posicionales
    const url = contexto.texto('direccion')
    const cambios = { ...(url !== undefined && { url }), ...leerDatos(contexto) }
    if (Object.keys(cambios).length === 0)
      throw new ErrorDeUso('Diga qué cambia: --direccion, --tipos o --descripcion.')
    decirWebhook(await contexto.api().webhooks.cambiar(codigo, cambios, { signal: contexto.signal }), contexto)
    return SALIDA.bien
  },
}

const poner = (nombre: string, estado: 'activo' | 'pausado', resumen: string, explica: string): Orden => ({
  resumen,
  uso: [`webhooks ${nombre} <webhook>`],
  explica,
  opciones: {},
  posicionales: [1, 1],
  async ejecutar(contexto) {
    const [codigo = ''] = contexto.posicionales
    decirWebhook(await contexto.api().webhooks.cambiar(codigo, { estado }, { signal: contexto.signal }), contexto)
    return SALIDA.bien
  },
})

const rotarSecreto: Orden = {
  resumen: 'crea un secreto nuevo, sin perder ningún envío',
  uso: ['webhooks rotar-secreto <webhook> [opciones]'],
  explica: `Crea un secreto nuevo y lo da una sola vez. Durante el solapamiento cada envío
lleva las dos firmas: cambie el secreto en su servidor con calma.`,
  opciones: {
    solapamiento: { valor: '<horas>', dice: 'cuánto sigue firmando el anterior; 24 si falta, 0 para que no' },
    ...DE_SECRETO,
  },
  posicionales: [1, 1],
  ejecutar(contexto) {
    const [codigo = ''] = contexto.posicionales
    const rotacion = { solapamiento_horas: numero(contexto, 'solapamiento', 24, 0) }
    return conSecreto(contexto, () =>
      contexto.api().webhooks.rotarSecreto(codigo, rotacion, { signal: contexto.signal }),
    )
  },
}

const eliminar: Orden = {
  resumen: 'elimina un webhook, con sus avisos y sus secretos',
  uso: ['webhooks eliminar <webhook> [opciones]'],
  explica: `Deja de enviarle y borra sus avisos y sus secretos; no se puede deshacer. En
una terminal pregunta antes; fuera de ella hace falta --si. Para dejar de enviar
por un tiempo: guias webhooks pausar.`,
  opciones: { si: { dice: 'elimina sin preguntar' } },
  posicionales: [1, 1],
  async ejecutar(contexto) {
    const [codigo = ''] = contexto.posicionales
    const { webhooks } = contexto.api()
    const pregunta = `¿Eliminar el webhook ${limpio(codigo)}? No se puede deshacer.`
    if (!(await confirmar(pregunta, contexto.si('si'), contexto.signal))) {
      avisar('No se eliminó nada.')
      return SALIDA.interrumpida
    }
    await webhooks.eliminar(codigo, { signal: contexto.signal })
    decir(contexto.json ? JSON.stringify({ webhook: codigo, eliminado: true }) : `${limpio(codigo)}  eliminado`)
    return SALIDA.bien
  },
}

export const webhooks: Grupo = {
  resumen: 'sus webhooks: crearlos, probarlos, ver qué se envió',
  ordenes: {
    listar,
    ver,
    crear,
    cambiar,
    probar,
    pausar: poner(
      'pausar',
      'pausado',
      'deja de enviar, y guarda los eventos',
      'Deja de enviar; los eventos se guardan y salen al reanudarlo.',
    ),
    reanudar: poner(
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
