import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { nombre, modo, pais, estricto } = await api.cuenta.obtener()
console.log(nombre, modo, pais, estricto)
