/** Makes the job of a pending row; the job's data names the row's merchant. */
export const toJob = ({ id, comercio_id }: { id: string; comercio_id: string }) => ({ id, data: { comercio_id } })

/** Returns the row to which a job belongs. */
export const fromJob = ({ id, data }: { id: string; data: object }) => ({ id, ...(data as { comercio_id: string }) })
