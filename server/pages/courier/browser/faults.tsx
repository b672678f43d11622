// Faults of a form, shown at their fields.
import { useEffect, useState } from 'preact/hooks'

type FieldFaults<C extends string> = Partial<Record<C, string>>

/**
 * Hook that holds the faults of a form by field. Setting the faults moves the focus to the first field with a fault.
 */
export function useFaults<C extends string>(): [FieldFaults<C>, (newFaults: FieldFaults<C>) => void] {
  const [faults, setFaults] = useState<FieldFaults<C>>({})
  useEffect(() => {
    const firstInvalid = document.querySelector<HTMLElement>('form [aria-invalid="true"]')
    // A group cannot take the focus, so its first field does.
    const field = firstInvalid?.matches('[role]') ? firstInvalid.querySelector<HTMLElement>('input') : firstInvalid
    field?.focus()
  }, [faults])
  return [faults, setFaults]
}

/** Paragraph that shows the fault of a field. */
export const FaultNotice = ({ de, children = '' }: { de: string; children?: string | undefined }) => (
  <p id={`falla-${de}`} class="falla" role="alert">
    {children}
  </p>
)

/** ARIA attributes of a field that may have a fault. */
export const withFault = (de: string, fault: string | undefined) => ({
  'aria-invalid': fault ? true : undefined,
  'aria-describedby': `falla-${de}`,
})
