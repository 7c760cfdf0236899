"""`ask_user`: a question the model puts to the person, with choices. The run is parked on it."""

from collections.abc import Callable

from silu.agent.ports import AnswersQuestions, WaitsError
from silu.tools.base import Args, Tool, ToolContext, ToolOutput, describe, object_schema
from silu.types.calls import ToolSpec
from silu.types.facts import Question

NAME = "ask_user"

_MOST_CHOICES = 12


def ask_user_tool(people: AnswersQuestions, tell: Callable[[Question], None]) -> Tool:
    """The tool over a run's people; `tell` makes the question a fact."""

    async def run(args: Args, context: ToolContext) -> ToolOutput:
        question = Question(
            question_id=context.wait_id,
            text=str(args["question"]),
            choices=list(args.get("choices") or []),
        )
        answer = people.answer_to(question.question_id)
        if answer is None:
            tell(question)
            answer = await people.answer(question)
        if answer is None:
            raise WaitsError(question.question_id)
        return ToolOutput(text=f"The person answered: {answer}", whole=True)

    # Asked again after a restart it is the same question: the person's answer is found by its id.
    return Tool(spec=_SPEC, effects=frozenset({"interact"}), run=run, idempotent=True)


_SPEC = ToolSpec(
    name=NAME,
    description=describe(__file__),
    parameters=object_schema(
        {
            "question": {"type": "string", "minLength": 1, "maxLength": 4_000},
            "choices": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 400},
                "maxItems": _MOST_CHOICES,
                "description": "Answers to choose from; the person may also write another one.",
            },
        },
        required=("question",),
    ),
)
