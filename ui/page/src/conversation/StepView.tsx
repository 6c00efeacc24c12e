import { hasEnded, keyOfStep, type Step, stepsOf, type TaskNode } from "@parley/client";
import { Entry } from "../artifacts/Entry.js";
import { Markdown } from "../text/Markdown.js";
import { useLinkedPlace } from "./place.js";
import { Question } from "./Question.js";
import { tells, useSetting } from "./scene.js";
import { Subagents } from "./Subagents.js";
import { ThoughtView } from "./ThoughtView.js";
import { ToolCallView } from "./ToolCallView.js";

/** One thing that a task does. */
export function StepView({ step, task }: { step: Step; task: TaskNode }) {
  const { thoughts, press } = useSetting();
  switch (step.kind) {
    case "text":
      return (
        <div class="text" data-partial={step.block.partial || undefined}>
          <Markdown text={step.block.text} live={!step.block.done} />
          {step.cut && <p class="cut">Cut off here; it goes on below.</p>}
        </div>
      );
    case "thought":
      return tells(thoughts, step.thought) ? (
        <ThoughtView thought={step.thought} live={!hasEnded(task.status)} />
      ) : null;
    case "question":
      return <Question question={step.question} />;
    case "steer":
      return (
        <div class="said user steer">
          <div class="bubble">
            <p class="label">said meanwhile</p>
            <Markdown text={step.message.content} />
          </div>
        </div>
      );
    case "artifact":
      return <Entry version={step.version} apart onOpen={() => press(step.version)} />;
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

/** All that a sub-agent does, below one another. */
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
  const { box, marked } = useLinkedPlace(place);
  return (
    <div ref={box} class="row" data-key={place} data-kind={step.kind} data-marked={marked}>
      <StepView step={step} task={task} />
    </div>
  );
}
