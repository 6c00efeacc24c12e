import { hasEnded, keyOfStep, type Step, stepsOf, type TaskNode } from "@parley/client";
import { ArtifactButton } from "../artifacts/ArtifactButton.js";
import { Markdown } from "../text/Markdown.js";
import { useLinkedRow } from "./linked-row.js";
import { QuestionView } from "./QuestionView.js";
import { showsThought, useConversation } from "./conversation-context.js";
import { Subagents } from "./Subagents.js";
import { ThoughtView } from "./ThoughtView.js";
import { ToolCallView } from "./ToolCallView.js";

/** A step of a task. */
export function StepView({ step, task }: { step: Step; task: TaskNode }) {
  const { thoughts, openArtifact } = useConversation();
  switch (step.kind) {
    case "text":
      return (
        <div class="text" data-partial={step.block.partial || undefined}>
          <Markdown text={step.block.text} live={!step.block.done} />
          {step.cut && <p class="cut">Interrupted here; continues below.</p>}
        </div>
      );
    case "thought":
      return showsThought(thoughts, step.thought) ? (
        <ThoughtView thought={step.thought} live={!hasEnded(task.status)} />
      ) : null;
    case "question":
      return <QuestionView question={step.question} />;
    case "steer":
      return (
        <div class="message user steer">
          <div class="bubble">
            <p class="label">Sent while working</p>
            <Markdown text={step.message.content} />
          </div>
        </div>
      );
    case "artifact":
      return (
        <ArtifactButton version={step.version} inThread onOpen={() => openArtifact(step.version)} />
      );
    case "call":
      return step.children.length > 0 ? (
        <Subagents call={step.call} tasks={step.children} />
      ) : (
        <ToolCallView call={step.call} taskId={task.taskId} />
      );
    case "children":
      return <Subagents call={undefined} tasks={step.children} />;
  }
}

/** The steps of a sub-agent. */
export function Steps({ task }: { task: TaskNode }) {
  return (
    <>
      {stepsOf(task).map((step) => (
        <InnerRow key={keyOfStep(step)} place={keyOfStep(step)} step={step} task={task} />
      ))}
    </>
  );
}

function InnerRow({ place, step, task }: { place: string; step: Step; task: TaskNode }) {
  const { box, marked } = useLinkedRow(place);
  return (
    <div ref={box} class="row" data-key={place} data-kind={step.kind} data-marked={marked}>
      <StepView step={step} task={task} />
    </div>
  );
}
