// dynalite ends when a client hangs up in the middle of a request, as clients with deadlines do. DynamoDB goes on.
process.on('uncaughtException', (error) => {
  if (error.code === 'ECONNRESET') return
  console.error(error)
  process.exit(1)
})
