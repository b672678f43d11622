import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

// De página en página, hasta la última.
for await (const guia of api.guias.listar({ estado: ['en_ruta', 'intento_fallido'] })) {
  console.log(guia.guia, guia.estado, guia.external_ref)
}
