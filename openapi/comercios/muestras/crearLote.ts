import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { resultados } = await api.guias.crearLote({
  recogida: { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 },
  guias: [
    {
      telefono: '3148 1676',
      departamento: 'Guatemala',
      municipio: 'San Juan Sacatepéquez',
      external_ref: 'PEDIDO-2026-00004',
    },
    { telefono: '3185 959', departamento: 'Quetzaltenango', municipio: 'Quetzaltenango' },
  ],
})
for (const r of resultados) {
  if (r.ok) console.log(r.indice, r.guia, r.repetida ? 'ya existía' : 'creada')
  else console.error(r.indice, r.error.codigo, r.error.errores) // 1 validacion: al teléfono le falta un dígito
}
