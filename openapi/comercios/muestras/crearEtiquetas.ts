import { writeFile } from 'node:fs/promises'
import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

await writeFile('etiquetas.pdf', await api.guias.etiquetaPdf(['7K3M9QX2A1B4', '2Q9ZT4C7XK0Y'])) // hasta 100, en ese orden
