/** A count for people. */
export const miles = (n: number): string => n.toLocaleString('en-US')

/** A measured number for people: three significant digits, and no decimals of what is large. */
export const numero = (valor: number): string =>
  Number.isNaN(valor)
    ? '—'
    : valor.toLocaleString('en-US', valor >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 })
