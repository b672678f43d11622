import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { telefono, secuencia } = await api.guias.corregir('7K3M9QX2A1B4', { telefono: '+502 5987 1234' })
console.log(telefono, secuencia) // +50259871234 2
