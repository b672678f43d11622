/** Error in the command line. The console prints it with the help text and exits with 2. */
export class CommandLineError extends Error {}
