import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

for await (const { accion, quien, creado_en } of api.cuenta.bitacora()) console.log(creado_en, accion, quien.tipo)
