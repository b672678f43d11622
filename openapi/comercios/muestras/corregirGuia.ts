import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { telefono, secuencia } = await api.guias.corregir('7K3M9QX2A1B4', { telefono: '+502 5987 1234' })
console.log(telefono, secuencia) // +50259871234 2
