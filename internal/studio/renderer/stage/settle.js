// settle lets the browser tell of promises that nobody waits for: it does so in
// a task of its own, which the first message lets it queue, and the second has
// it run. A message costs some microseconds; a timer would cost 4 ms.

const { port1, port2 } = new MessageChannel()
const post = port2.postMessage.bind(port2)
let came
port1.onmessage = () => came()
const message = () => new Promise(keep => {
  came = keep
  post(0)
})

export async function settle() {
  await message()
  await message()
}
