import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { ROOT } from '../../server/platform/root.ts'

// What `despliegue/` says, for whoever holds it against something or does it.

export const YAML = createRequire(new URL('node_modules/knip/package.json', ROOT))('yaml') as {
  parse(texto: string, opciones?: { merge: boolean }): unknown
}

export const readArchivo = (ruta: string) => readFileSync(new URL(ruta, ROOT), 'utf8')

interface Servicio {
  image: string
  command?: string[]
  environment?: Record<string, string>
  stop_grace_period?: string
}

/** Its services by their names, in the order in which they stand. */
export const { services: COMPOSE_SERVICES } = YAML.parse(readArchivo('despliegue/compose.yaml'), { merge: true }) as {
  services: Record<string, Servicio>
}

/** Those that are processes of ours. */
export const OWN_SERVICES = Object.entries(COMPOSE_SERVICES).flatMap(([nombre, servicio]) =>
  servicio.image.startsWith('guias:') ? [{ nombre, ...servicio }] : [],
)

/** How a process of the image is called unless compose says otherwise, and the environment that the image gives it. */
export const IMAGE_DEFAULTS = (() => {
  const ultima = readArchivo('despliegue/Dockerfile')
    .split(/^FROM /m)
    .at(-1)!
  const env = Object.fromEntries(
    [...ultima.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, nombre, valor]) => [nombre!, valor!]),
  )
  return { order: JSON.parse(/^CMD (.+)$/m.exec(ultima)![1]!) as string[], env }
})()

/** A text of compose with values for the variables that whoever deploys has to give. */
export function fillVariables(texto: string, valores: Readonly<Record<string, string>>): string {
  return texto.replace(/\$\{(\w+):([?-])([^}]*)\}/g, (_match, nombre: string, signo: string, defaultValue: string) => {
    const valor = valores[nombre] ?? defaultValue
    if (signo === '?' && valor === '') throw new Error(`${nombre} has no value`)
    return valor
  })
}
