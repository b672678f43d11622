// What a form misses, told at its field.
import { useEffect, useState } from 'preact/hooks'

type Fallas<C extends string> = Partial<Record<C, string>>

/** The faults of a form by field; telling them takes the focus to the first. */
export function useFallas<C extends string>(): [Fallas<C>, (nuevas: Fallas<C>) => void] {
  const [fallas, poner] = useState<Fallas<C>>({})
  useEffect(() => {
    const primera = document.querySelector<HTMLElement>('form [aria-invalid="true"]')
    // Of a group it is the first of its fields.
    const campo = primera?.matches('[role]') ? primera.querySelector<HTMLElement>('input') : primera
    campo?.focus()
  }, [fallas])
  return [fallas, poner]
}

/** Where a field's fault stands. */
export const Falla = ({ de, children = '' }: { de: string; children?: string | undefined }) => (
  <p id={`falla-${de}`} class="falla" role="alert">
    {children}
  </p>
)

/** What a field says of its fault. */
export const conFalla = (de: string, falla: string | undefined) => ({
  'aria-invalid': falla ? true : undefined,
  'aria-describedby': `falla-${de}`,
})
