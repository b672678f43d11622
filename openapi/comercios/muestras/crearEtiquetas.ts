import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

const { url, vence_en } = await api.guias.etiquetas(['7K3M9QX2A1B4', '2Q9ZT4C7XK0Y']) // hasta 100, en ese orden
console.log(url, vence_en)
