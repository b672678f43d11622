import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { estado, decision } = await api.guias.devolver('7K3M9QX2A1B4', { razon: 'El cliente ya no lo quiere' })
console.log(estado, decision?.estado) // en_devolucion aplicada
