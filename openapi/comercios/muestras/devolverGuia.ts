import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { estado, resolucion } = await api.guias.devolver('7K3M9QX2A1B4', { razon: 'El cliente ya no lo quiere' })
console.log(estado, resolucion?.estado) // en_devolucion aplicada
