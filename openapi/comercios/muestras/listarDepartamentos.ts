import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

for await (const { codigo, nombre } of api.catalogo.departamentos({ pais: 'GT' })) console.log(codigo, nombre)
