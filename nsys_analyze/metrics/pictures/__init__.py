"""What pictures show, as plain numbers: each module makes the data of one kind of plot, which its view only draws."""
