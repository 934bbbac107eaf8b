// Draws every figure of the page from the JSON in #data.
const data = JSON.parse(document.getElementById("data").textContent);
dress(data);
for (const figure of data.figures) new Figure(figure, document.getElementById(figure.id).querySelector(".charts"));
