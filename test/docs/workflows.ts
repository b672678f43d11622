import { YAML } from '../deployment/compose.ts'

export interface WorkflowStep {
  id?: string
  uses?: string
  run?: string
  env?: Record<string, string>
}
interface Trabajo {
  permissions?: Record<string, string> | string
  container?: string | { image: string }
  services?: Record<string, { image: string }>
  steps?: WorkflowStep[]
  uses?: string
}
interface Flujo {
  permissions?: Record<string, string> | string
  jobs: Record<string, Trabajo>
}

const ACCION = /^[\w./-]+@[0-9a-f]{40}$/
const IMAGEN = /@sha256:[0-9a-f]{64}$/
/** Commands that fetch what no lock names. */
const UNLOCKED_TOOLS = /\bnpx\b|\bnpm (?:exec|x|create|init)\b|\bcurl\b|\bwget\b/
/** A job that may ask for an identity token does nothing else: no code of the repository or of a dependency runs beside the token. */
const ALLOWED_WITH_TOKEN = [
  /^echo "\$SHA256 {2}\S+\.tgz" \| sha256sum --check --strict$/,
  /^npm publish \.\/\S+\.tgz --ignore-scripts --provenance --access public$/,
]

const canRequestToken = (permissions: Trabajo['permissions']) =>
  typeof permissions === 'string' ? permissions === 'write-all' : permissions?.['id-token'] === 'write'

const imageOf = (container: NonNullable<Trabajo['container']>) =>
  typeof container === 'string' ? container : container.image

/** Lists what a workflow leaves unpinned, and what runs beside an identity token. */
export function findWorkflowFaults(text: string): string[] {
  const { permissions, jobs } = YAML.parse(text) as Flujo
  const faltas: string[] = []
  if (typeof permissions !== 'object' || Object.keys(permissions ?? {}).length > 0)
    faltas.push('the workflow gives permissions to every job')
  for (const [name, job] of Object.entries(jobs)) {
    const steps = job.steps ?? []
    const images = [job.container, ...Object.values(job.services ?? {})].filter((image) => image !== undefined)
    for (const image of images.map(imageOf))
      if (!IMAGEN.test(image)) faltas.push(`${name}: image ${image} without digest`)
    for (const usedAction of [job.uses, ...steps.map(({ uses }) => uses)].filter((action) => action !== undefined))
      if (!ACCION.test(usedAction) && !IMAGEN.test(usedAction))
        faltas.push(`${name}: action ${usedAction} without commit`)
    const commands = steps.flatMap(({ run }) => run?.trim().split('\n') ?? [])
    for (const command of commands)
      if (UNLOCKED_TOOLS.test(command)) faltas.push(`${name}: unlocked tool in «${command}»`)
    if (!canRequestToken(job.permissions)) continue
    for (const command of commands)
      if (!ALLOWED_WITH_TOKEN.some((pattern) => pattern.test(command)))
        faltas.push(`${name}: «${command}» beside the token`)
    for (const { uses = '' } of steps)
      if (uses && !uses.startsWith('actions/download-artifact@')) faltas.push(`${name}: ${uses} beside the token`)
  }
  return faltas
}
