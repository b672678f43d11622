/**
 * Scripts of the collection. Postman, Bruno and their runners run them: one before each request, one after it. They use
 * only what Bruno's importer translates.
 */

/**
 * Precondition of a request, which the collection's variables must fulfil: a guide in a certain state, or an object of
 * webhooks.
 */
export type Need =
  | 'aceptada'
  | 'nueva'
  | 'dos'
  | 'sinLugar'
  | 'vencida'
  | 'enRuta'
  | 'fallida'
  | 'entregada'
  | 'sitio'
  | 'webhook'
  | 'aviso'
  | 'recuperacion'

/**
 * Returns the script that runs before each request. With a test key, it checks that the variables fulfil the request's
 * precondition, and otherwise creates what is missing. The text is one constant, because Postman runs it as one script.
 * @param needs preconditions by the name of the request
 */
export const beforeRequest = (needs: Readonly<Record<string, Need>>) => `
const necesita = ${JSON.stringify(needs)}[pm.info.requestName]
const base = pm.variables.replaceIn('{{GUIAS_URL}}') + '/api/v1'
const llave = pm.variables.replaceIn('{{GUIAS_LLAVE}}')
const unico = Date.now().toString(36) + Math.random().toString(36).slice(2, 8)
const poner = (nombre, valor) => pm.collectionVariables.set(nombre, valor)
poner('unico', unico)
poner('clave', 'coleccion-' + unico)
poner('desde', new Date(Date.now() - 3600000).toISOString())
poner('hasta', new Date().toISOString())

// Bruno's importer puts an await before each pm.sendRequest, which is why these functions are async.
const leer = (ruta) =>
  new Promise(async (listo) => {
    pm.sendRequest(
      { url: base + ruta, method: 'GET', header: [{ key: 'Authorization', value: 'Bearer ' + llave }] },
      (error, respuesta) => {
        listo(error || !respuesta ? {} : respuesta.json())
      },
    )
  })
const enviar = (metodo, ruta, datos) =>
  new Promise(async (listo) => {
    pm.sendRequest(
      {
        url: base + ruta,
        method: metodo,
        header: [
          { key: 'Authorization', value: 'Bearer ' + llave },
          { key: 'Content-Type', value: 'application/json' },
        ],
        body: { mode: 'raw', raw: JSON.stringify(datos) },
      },
      (error, respuesta) => {
        listo(error || !respuesta || metodo === 'DELETE' ? {} : respuesta.json())
      },
    )
  })
const recogida = { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 }
async function crearGuia(lugar) {
  const telefono = '+5025' + String(Math.floor(Math.random() * 10000000)).padStart(7, '0')
  const destino = { telefono, departamento: 'Guatemala', municipio: 'Mixco', recogida }
  return (await enviar('POST', '/guias', Object.assign(destino, lugar))).guia
}
async function llevar(guia, estados) {
  for (const estado of estados) await enviar('POST', '/simulador/guias/' + guia + '/avanzar', { estado })
}
const conLugar = { lat: 14.6307, lng: -90.6071 }
const sirve = {
  aceptada: (guia) => guia.estado === 'aceptado',
  nueva: (guia) => guia.estado === 'aceptado' && guia.secuencia === 1,
  dos: () => false,
  sinLugar: (guia) => guia.estado === 'aceptado' && guia.ubicacion.estado === 'solicitada',
  vencida: (guia) => guia.estado === 'aceptado' && guia.ubicacion.estado === 'vencida',
  enRuta: (guia) => guia.estado === 'en_ruta',
  fallida: (guia) => guia.estado === 'intento_fallido' && guia.decision && guia.decision.estado === 'pendiente',
  entregada: (guia) => guia.estado === 'entregado',
}
async function prepararGuia() {
  const actual = await leer('/guias/' + pm.variables.replaceIn('{{guia}}'))
  if (actual.guia && sirve[necesita](actual)) return
  const deLejos = necesita === 'sinLugar' || necesita === 'vencida'
  const guia = await crearGuia(deLejos ? {} : conLugar)
  if (necesita === 'dos') poner('otra_guia', await crearGuia(conLugar))
  if (necesita === 'vencida')
    await enviar('POST', '/simulador/guias/' + guia + '/confirmar-ubicacion', { resultado: 'vencida' })
  if (necesita === 'enRuta') await llevar(guia, ['recolectado', 'en_ruta'])
  if (necesita === 'fallida') await llevar(guia, ['recolectado', 'en_ruta', 'intento_fallido'])
  if (necesita === 'entregada') await llevar(guia, ['recolectado', 'en_ruta', 'entregado'])
  poner('guia', guia)
}
const deColeccion = (webhook) => webhook.url.includes('/coleccion/')
async function prepararWebhook() {
  if (necesita === 'sitio') {
    const { datos = [] } = await leer('/webhooks?limite=100')
    if (datos.length >= 15) for (const uno of datos.filter(deColeccion)) await enviar('DELETE', '/webhooks/' + uno.webhook, {})
    return
  }
  const actual = await leer('/webhooks/' + pm.variables.replaceIn('{{webhook}}'))
  let webhook = actual.webhook
  if (!webhook) webhook = (await enviar('POST', '/webhooks', { url: pm.variables.replaceIn('{{RECEPTOR}}') + '/' + unico })).webhook
  else if (actual.estado !== 'activo') await enviar('PATCH', '/webhooks/' + webhook, { estado: 'activo' })
  if (necesita === 'aviso') poner('aviso', (await enviar('POST', '/webhooks/' + webhook + '/probar', {})).aviso)
  if (necesita === 'recuperacion') {
    const desde = new Date(Date.now() - 3600000).toISOString()
    const hecha = await enviar('POST', '/webhooks/' + webhook + '/recuperar', { desde })
    if (hecha.recuperacion) poner('recuperacion', hecha.recuperacion)
  }
  poner('webhook', webhook)
}
// The callback of a request is what every runner waits for before it sends the next one.
if (necesita && llave.startsWith('guia_test_'))
  pm.sendRequest(
    { url: base + '/cuenta', method: 'GET', header: [{ key: 'Authorization', value: 'Bearer ' + llave }] },
    async (error, respuesta) => {
      if (!error) await (sirve[necesita] ? prepararGuia() : prepararWebhook())
    },
  )
`

/**
 * Script that runs after each request. It stores the codes that the response contains in variables, so that later
 * requests use them.
 */
export const AFTER_REQUEST = `
const hecho = pm.response.code < 300 && pm.response.text() ? pm.response.json() : {}
for (const clase of ['guia', 'webhook', 'aviso', 'recuperacion'])
  if (typeof hecho[clase] === 'string') pm.collectionVariables.set(clase, hecho[clase])
`
