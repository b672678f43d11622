import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

// De página en página, hasta la última.
for await (const guia of api.guias.listar({ estado: ['en_ruta', 'intento_fallido'] })) {
  console.log(guia.guia, guia.estado, guia.external_ref)
}
