import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

for await (const { accion, quien, creado_en } of api.cuenta.bitacora()) console.log(creado_en, accion, quien.tipo)
