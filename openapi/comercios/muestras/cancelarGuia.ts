import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { estado } = await api.guias.cancelar('7K3M9QX2A1B4', { descripcion: 'El cliente canceló el pedido' })
console.log(estado) // cancelado
