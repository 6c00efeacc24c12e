package dev.parley.tool;

import dev.parley.protocol.Json;

/// `calculator`: computes the value of an arithmetic expression.
public final class CalculatorTool extends BuiltInTool<CalculatorTool.Arguments> {

  private static final String DESCRIPTION =
      "Computes an expression of numbers, + - * / % ^ and parentheses. Returns {expression,"
          + " value}; value is a decimal number as text, exact to 34 digits.";

  /// The expression to compute.
  public record Arguments(String expression) {}

  public CalculatorTool() {
    super("calculator", Effect.PURE, Arguments.class, DESCRIPTION);
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) {
    try {
      var value = ArithmeticExpression.value(arguments.expression());
      return new ToolResult.Done(
          Json.object().put("expression", arguments.expression()).put("value", value));
    } catch (ArithmeticException impossible) {
      return new ToolResult.Failed(String.valueOf(impossible.getMessage()));
    }
  }
}
