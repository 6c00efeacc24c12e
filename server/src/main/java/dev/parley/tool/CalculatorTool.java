package dev.parley.tool;

import dev.parley.protocol.Json;

/// `calculator`: computes the value of an arithmetic expression.
public final class CalculatorTool implements TypedTool<CalculatorTool.Arguments> {

  /// The expression to compute.
  public record Arguments(String expression) {}

  @Override
  public String name() {
    return "calculator";
  }

  @Override
  public String description() {
    return "Computes an expression of numbers, + - * / % ^ and parentheses. Returns {expression,"
        + " value}; value is a decimal number as text, exact to 34 digits.";
  }

  @Override
  public Class<Arguments> arguments() {
    return Arguments.class;
  }

  @Override
  public Effect effect() {
    return Effect.PURE;
  }

  @Override
  public boolean concurrent() {
    return true;
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
