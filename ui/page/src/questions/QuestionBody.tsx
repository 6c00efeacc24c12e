import { Approval } from "./Approval.js";
import { Choice } from "./Choice.js";
import { FormAnswer } from "./FormAnswer.js";
import { type PendingQuestion, kindOf } from "./pending-questions.js";
import { SignIn } from "./SignIn.js";
import { TextAnswer } from "./TextAnswer.js";

/** The controls that answer a question. */
export function QuestionBody({ question }: { question: PendingQuestion }) {
  if (question.kind === "auth-required") {
    return <SignIn question={question} />;
  }
  switch (kindOf(question)) {
    case "approval":
      return <Approval question={question} />;
    case "choice":
      return <Choice question={question} options={question.options ?? []} />;
    case "form":
      return <FormAnswer question={question} />;
    default:
      return <TextAnswer question={question} />;
  }
}
