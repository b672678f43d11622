/** Bruno's importers come without types; this is what is used of them. */
declare module '@usebruno/converters' {
  export function postmanToBruno(collection: object): Promise<unknown>
}
