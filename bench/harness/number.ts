/** Formats a count with thousands separators. */
export const miles = (n: number): string => n.toLocaleString('en-US')

/** Formats a measured number with three significant digits, and without decimals from 1,000 on. */
export const formatNumber = (valor: number): string =>
  Number.isNaN(valor)
    ? '—'
    : valor.toLocaleString('en-US', valor >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 })
