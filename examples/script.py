"""One question from a plain script: `python examples/script.py`."""

import silu

reply = silu.ask("Hello!", model="demo/thinker", level="low")
print(reply.text)
print(f"[{reply.usage.output_tokens} tokens, {len(reply.thinking)} characters of thinking]")
