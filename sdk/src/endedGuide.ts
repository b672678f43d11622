/**
 * Reports whether a warning says that a repeated creation found a guide that will not be delivered, so that nothing is shipped.
 * Takes any code: the command line has the package's types twice, in the library and here.
 */
export const isOfEndedGuide = ({ codigo }: { codigo: unknown }): boolean => /^ya_/.test(codigo as string)
