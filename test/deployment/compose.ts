import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { ROOT } from '../../server/platform/root.ts'

// What `despliegue/` says, for whoever holds it against something or does it.

export const YAML = createRequire(new URL('node_modules/knip/package.json', ROOT))('yaml') as {
  parse(text: string, options?: { merge: boolean }): unknown
}

export const readArchivo = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')

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
export const OWN_SERVICES = Object.entries(COMPOSE_SERVICES).flatMap(([nombre, service]) =>
  service.image.startsWith('guias:') ? [{ nombre, ...service }] : [],
)

/** How a process of the image is called unless compose says otherwise, and the environment that the image gives it. */
export const IMAGE_DEFAULTS = (() => {
  const last = readArchivo('despliegue/Dockerfile')
    .split(/^FROM /m)
    .at(-1)!
  const env = Object.fromEntries([...last.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name!, value!]))
  return { order: JSON.parse(/^CMD (.+)$/m.exec(last)![1]!) as string[], env }
})()

/** A text of compose with values for the variables that whoever deploys has to give. */
export function fillVariables(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+):([?-])([^}]*)\}/g, (_match, name: string, signo: string, defaultValue: string) => {
    const value = values[name] ?? defaultValue
    if (signo === '?' && value === '') throw new Error(`${name} has no value`)
    return value
  })
}
