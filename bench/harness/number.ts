/** Formats a count with thousands separators. */
export const miles = (n: number): string => n.toLocaleString('en-US')

/** Formats a measured number with three significant digits, and without decimals from 1,000 on. */
export const formatNumber = (value: number): string =>
  Number.isNaN(value)
    ? '—'
    : value.toLocaleString('en-US', value >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 })
