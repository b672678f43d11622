import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { resultados } = await api.guias.crearLote({
  recogida: { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 },
  guias: [
    {
      telefono: '3148 1676',
      departamento: 'Guatemala',
      municipio: 'San Juan Sacatepéquez',
      lat: 14.71889,
      lng: -90.64417,
      external_ref: 'PEDIDO-2026-00015',
    },
    {
      telefono: '+502 3111 3757',
      departamento: 'Guatemala',
      municipio: 'Petapa',
      lat: 14.50189,
      lng: -90.56196,
      external_ref: 'PEDIDO-2026-00014',
      recogida: { nombre: 'Tienda Antigua', lat: 14.556111, lng: -90.733611 },
    },
    {
      telefono: '3185 959',
      departamento: 'Quetzaltenango',
      municipio: 'Quetzaltenango',
      external_ref: 'PEDIDO-2026-00016',
    },
  ],
})
for (const r of resultados) {
  if (r.ok) console.log(r.indice, r.guia, r.repetida ? 'ya existía' : 'creada')
  else console.error(r.indice, r.error.codigo, r.error.errores) // 2 validacion: al teléfono le falta un dígito
}
