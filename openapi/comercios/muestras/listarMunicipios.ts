import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

for await (const municipio of api.catalogo.municipios({ departamento: 'GT-SA', buscar: 'santa' })) {
  console.log(municipio.codigo, municipio.nombre, municipio.lat, municipio.lng)
}
