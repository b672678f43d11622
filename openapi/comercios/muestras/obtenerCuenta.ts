import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { nombre, modo, pais, estricto } = await api.cuenta.obtener()
console.log(nombre, modo, pais, estricto)
