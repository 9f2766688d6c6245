// dynalite exits if a client closes the connection during a request, as clients with deadlines do. DynamoDB does not.
process.on('uncaughtException', (error) => {
  if (error.code === 'ECONNRESET') return
  console.error(error)
  process.exit(1)
})
