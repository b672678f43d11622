import { Guias } from '@guias/sdk'

const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: process.env.GUIAS_URL! })

const { url, vence_en } = await api.guias.etiquetas(['7K3M9QX2A1B4', '2Q9ZT4C7XK0Y']) // hasta 100, en ese orden
console.log(url, vence_en)
