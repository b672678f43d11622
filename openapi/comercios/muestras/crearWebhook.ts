import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { webhook, secreto } = await api.webhooks.crear({
  url: 'https://tienda.ejemplo.com/guias/eventos',
  tipos: ['guia.*', 'ubicacion.confirmada'], // si faltan, todos
})
console.log(webhook, secreto) // guarde el secreto: no se vuelve a mostrar
