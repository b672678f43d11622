import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const) {
  const guia = await api.simulador.avanzar('7K3M9QX2A1B4', { estado })
  console.log(guia.estado)
}
