import { expect, it } from 'vitest'
import { composeLetter } from '../../server/domain/correos/templates.ts'

const COMMON = {
  nombre: 'Ana',
  que: 'invitar a Eva Ruiz (eva@ejemplo.com), con estos permisos: administrar',
  enlace: 'https://x/cuenta',
}

it('the mail about a decision tells who decided and why, or that nobody did', () => {
  const say = (quien: string | null, razon: string | null) => {
    const { subject, paragraphs } = composeLetter('decision', { ...COMMON, quien, razon }, 'Quetzal')
    return [subject, paragraphs.at(-1)]
  }
  expect(say('Bea', null)).toEqual(['Aprobaron lo que usted pidió en Quetzal', 'Bea lo aprobó, y ya está hecho.'])
  expect(say('Bea', 'No la conozco')).toEqual([
    'Rechazaron lo que usted pidió en Quetzal',
    'Bea lo rechazó, y no se hizo. Por qué: No la conozco',
  ])
  expect(say(null, null)).toEqual([
    'Venció lo que usted pidió en Quetzal',
    'Nadie decidió a tiempo, y no se hizo. Si todavía hace falta, pídalo otra vez.',
  ])
})
