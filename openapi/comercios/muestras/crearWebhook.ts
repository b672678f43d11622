import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { webhook, secreto } = await api.webhooks.crear({
  url: 'https://tienda.ejemplo.com/guias/eventos',
  tipos: ['guia.*', 'ubicacion.confirmada'], // si faltan, todos
})
console.log(webhook, secreto) // guarde el secreto: no se vuelve a mostrar
