import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

for await (const municipio of api.catalogo.municipios({ departamento: 'GT-SA', buscar: 'santa' })) {
  console.log(municipio.codigo, municipio.nombre, municipio.lat, municipio.lng)
}
