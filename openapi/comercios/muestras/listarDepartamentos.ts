import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

for await (const { codigo, nombre } of api.catalogo.departamentos({ pais: 'GT' })) console.log(codigo, nombre)
